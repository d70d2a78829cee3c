{#- Every row meets every claim. The result has one row for each broken claim, with the number of rows that break it. -#}
{% test passk_rows_hold(model, claims) %}
{{ passk._broken_claims(model, claims) }}
{% endtest %}
