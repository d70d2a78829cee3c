-- The landing tables that passk 0.1.0 wrote (commit c068222), by `passk load old.jsonl gone.jsonl`,
-- `passk load new.jsonl --expected-attempts 5` and `passk forget --run gone` in the folder {folder}.
create schema landing;
CREATE TABLE landing.attempts(run_id VARCHAR NOT NULL, suite VARCHAR NOT NULL, task_id VARCHAR NOT NULL, attempt BIGINT NOT NULL, outcome VARCHAR NOT NULL, outcome_reason VARCHAR, score DOUBLE, agent VARCHAR, agent_version VARCHAR, model VARCHAR, seed BIGINT, started_at TIMESTAMP, duration_s DOUBLE, cost_usd DOUBLE, input_tokens BIGINT, output_tokens BIGINT, output_hash VARCHAR, tags MAP(VARCHAR, VARCHAR), source_file VARCHAR NOT NULL, source_line BIGINT, source_format VARCHAR, loaded_at TIMESTAMP NOT NULL, CHECK((run_id != '')), CHECK((task_id != '')), CHECK((attempt >= 1)), CHECK((outcome IN ('passed', 'failed', 'excluded'))));
insert into landing.attempts values
  ('new', 'letters', 'never', 1, 'failed', null, null, 'bot', 'new', null, null, '2026-01-02 00:00:01', null, null, null, null, null, map {'kind': 'n'}, '{folder}/new.jsonl', 5, 'jsonl', '2026-11-26 12:56:31.004122'),
  ('new', 'letters', 'never', 2, 'passed', null, null, 'bot', 'new', null, null, '2026-01-02 00:00:02', null, null, null, null, null, map {'kind': 'n'}, '{folder}/new.jsonl', 6, 'jsonl', '2026-11-26 12:56:31.004122'),
  ('new', 'letters', 'never', 3, 'failed', null, null, 'bot', 'new', null, null, '2026-01-02 00:00:03', null, null, null, null, null, map {'kind': 'n'}, '{folder}/new.jsonl', 7, 'jsonl', '2026-11-26 12:56:31.004122'),
  ('new', 'letters', 'never', 4, 'passed', null, null, 'bot', 'new', null, null, '2026-01-02 00:00:04', null, null, null, null, null, map {'kind': 'n'}, '{folder}/new.jsonl', 8, 'jsonl', '2026-11-26 12:56:31.004122'),
  ('new', 'letters', 'shaky', 1, 'failed', null, null, 'bot', 'new', null, null, '2026-01-02 00:00:01', null, null, null, null, null, map {'kind': 's'}, '{folder}/new.jsonl', 9, 'jsonl', '2026-11-26 12:56:31.004122'),
  ('new', 'letters', 'shaky', 2, 'passed', null, null, 'bot', 'new', null, null, '2026-01-02 00:00:02', null, null, null, null, null, map {'kind': 's'}, '{folder}/new.jsonl', 10, 'jsonl', '2026-11-26 12:56:31.004122'),
  ('new', 'letters', 'shaky', 3, 'passed', null, null, 'bot', 'new', null, null, '2026-01-02 00:00:03', null, null, null, null, null, map {'kind': 's'}, '{folder}/new.jsonl', 11, 'jsonl', '2026-11-26 12:56:31.004122'),
  ('new', 'letters', 'shaky', 4, 'excluded', null, null, 'bot', 'new', null, null, '2026-01-02 00:00:04', null, null, null, null, null, map {'kind': 's'}, '{folder}/new.jsonl', 12, 'jsonl', '2026-11-26 12:56:31.004122'),
  ('new', 'letters', 'steady', 1, 'passed', null, null, 'bot', 'new', null, null, '2026-01-02 00:00:01', null, null, null, null, null, map {'kind': 's'}, '{folder}/new.jsonl', 1, 'jsonl', '2026-11-26 12:56:31.004122'),
  ('new', 'letters', 'steady', 2, 'passed', null, null, 'bot', 'new', null, null, '2026-01-02 00:00:02', null, null, null, null, null, map {'kind': 's'}, '{folder}/new.jsonl', 2, 'jsonl', '2026-11-26 12:56:31.004122'),
  ('new', 'letters', 'steady', 3, 'passed', null, null, 'bot', 'new', null, null, '2026-01-02 00:00:03', null, null, null, null, null, map {'kind': 's'}, '{folder}/new.jsonl', 3, 'jsonl', '2026-11-26 12:56:31.004122'),
  ('new', 'letters', 'steady', 4, 'failed', null, null, 'bot', 'new', null, null, '2026-01-02 00:00:04', null, null, null, null, null, map {'kind': 's'}, '{folder}/new.jsonl', 4, 'jsonl', '2026-11-26 12:56:31.004122'),
  ('old', 'letters', 'never', 1, 'failed', null, null, 'bot', 'old', null, null, '2026-01-01 00:00:01', null, null, null, null, null, map {'kind': 'n'}, '{folder}/old.jsonl', 5, 'jsonl', '2026-11-26 12:56:29.324983'),
  ('old', 'letters', 'never', 2, 'failed', null, null, 'bot', 'old', null, null, '2026-01-01 00:00:02', null, null, null, null, null, map {'kind': 'n'}, '{folder}/old.jsonl', 6, 'jsonl', '2026-11-26 12:56:29.324983'),
  ('old', 'letters', 'never', 3, 'failed', null, null, 'bot', 'old', null, null, '2026-01-01 00:00:03', null, null, null, null, null, map {'kind': 'n'}, '{folder}/old.jsonl', 7, 'jsonl', '2026-11-26 12:56:29.324983'),
  ('old', 'letters', 'never', 4, 'failed', null, null, 'bot', 'old', null, null, '2026-01-01 00:00:04', null, null, null, null, null, map {'kind': 'n'}, '{folder}/old.jsonl', 8, 'jsonl', '2026-11-26 12:56:29.324983'),
  ('old', 'letters', 'shaky', 1, 'passed', null, null, 'bot', 'old', null, null, '2026-01-01 00:00:01', null, null, null, null, null, map {'kind': 's'}, '{folder}/old.jsonl', 9, 'jsonl', '2026-11-26 12:56:29.324983'),
  ('old', 'letters', 'shaky', 2, 'failed', null, null, 'bot', 'old', null, null, '2026-01-01 00:00:02', null, null, null, null, null, map {'kind': 's'}, '{folder}/old.jsonl', 10, 'jsonl', '2026-11-26 12:56:29.324983'),
  ('old', 'letters', 'shaky', 3, 'failed', null, null, 'bot', 'old', null, null, '2026-01-01 00:00:03', null, null, null, null, null, map {'kind': 's'}, '{folder}/old.jsonl', 11, 'jsonl', '2026-11-26 12:56:29.324983'),
  ('old', 'letters', 'shaky', 4, 'failed', null, null, 'bot', 'old', null, null, '2026-01-01 00:00:04', null, null, null, null, null, map {'kind': 's'}, '{folder}/old.jsonl', 12, 'jsonl', '2026-11-26 12:56:29.324983'),
  ('old', 'letters', 'steady', 1, 'passed', null, null, 'bot', 'old', null, null, '2026-01-01 00:00:01', null, null, null, null, null, map {'kind': 's'}, '{folder}/old.jsonl', 1, 'jsonl', '2026-11-26 12:56:29.324983'),
  ('old', 'letters', 'steady', 2, 'passed', null, null, 'bot', 'old', null, null, '2026-01-01 00:00:02', null, null, null, null, null, map {'kind': 's'}, '{folder}/old.jsonl', 2, 'jsonl', '2026-11-26 12:56:29.324983'),
  ('old', 'letters', 'steady', 3, 'passed', null, null, 'bot', 'old', null, null, '2026-01-01 00:00:03', null, null, null, null, null, map {'kind': 's'}, '{folder}/old.jsonl', 3, 'jsonl', '2026-11-26 12:56:29.324983'),
  ('old', 'letters', 'steady', 4, 'passed', null, null, 'bot', 'old', null, null, '2026-01-01 00:00:04', null, null, null, null, null, map {'kind': 's'}, '{folder}/old.jsonl', 4, 'jsonl', '2026-11-26 12:56:29.324983');
CREATE TABLE landing.expected_attempts(run_id VARCHAR NOT NULL, suite VARCHAR NOT NULL, task_id VARCHAR NOT NULL, expected_attempts BIGINT NOT NULL, source_file VARCHAR NOT NULL, loaded_at TIMESTAMP NOT NULL);
insert into landing.expected_attempts values
  ('new', 'letters', 'never', 5, '{folder}/new.jsonl', '2026-11-26 12:56:31.004122'),
  ('new', 'letters', 'shaky', 5, '{folder}/new.jsonl', '2026-11-26 12:56:31.004122'),
  ('new', 'letters', 'steady', 5, '{folder}/new.jsonl', '2026-11-26 12:56:31.004122');
CREATE TABLE landing.files(source_file VARCHAR NOT NULL, source_format VARCHAR NOT NULL, size_bytes BIGINT, sha256 VARCHAR, "options" VARCHAR, rows_read BIGINT NOT NULL, rows_landed BIGINT, rows_rejected BIGINT, loaded_at TIMESTAMP NOT NULL);
insert into landing.files values
  ('{folder}/new.jsonl', 'jsonl', 2426, 'a7f95932dff2b5f3ef63f6731030571a4c749c9b28fd30a6cf3d0c62482fa5ca', '{"expected_attempts": 5, "reader": "jsonl/1", "score_threshold": 1.0}', 13, 12, 1, '2026-11-26 12:56:31.004122'),
  ('{folder}/old.jsonl', 'jsonl', 2332, '4cc8387f194ea76b9b51d65efc70ec3c2c77448f018733ba02873c35486ed431', '{"reader": "jsonl/1", "score_threshold": 1.0}', 12, 12, 0, '2026-11-26 12:56:29.324983');
CREATE TABLE landing.parts(source_file VARCHAR NOT NULL, part VARCHAR NOT NULL);
CREATE TABLE landing.rejected(run_id VARCHAR, suite VARCHAR, task_id VARCHAR, attempt BIGINT, outcome VARCHAR, reason_code VARCHAR NOT NULL, reason VARCHAR NOT NULL, raw VARCHAR, source_file VARCHAR NOT NULL, source_line BIGINT, source_format VARCHAR, loaded_at TIMESTAMP NOT NULL);
insert into landing.rejected values
  ('new', 'letters', 'steady', 5, null, 'unknown_outcome', 'outcome is ''oops'', which is not one of passed, failed, excluded.', '{"run_id": "new", "suite": "letters", "task_id": "steady", "attempt": 5, "outcome": "oops"}', '{folder}/new.jsonl', 13, 'jsonl', '2026-11-26 12:56:31.004122');
CREATE TABLE landing.removed_tasks(run_id VARCHAR NOT NULL, suite VARCHAR NOT NULL, task_id VARCHAR NOT NULL, removed_at TIMESTAMP NOT NULL);
insert into landing.removed_tasks values
  ('gone', 'letters', 'steady', '2026-11-26 12:56:32.127248');
