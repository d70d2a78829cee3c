"""Containers of a log's rows: bytes, lines, JSON documents, tables, zips.

Each is read as a stream, in bounded memory whatever the file holds, and gives every row or what is
wrong in its place. Nothing here knows what a row means; that is for :mod:`passk_py.ingest.formats`.
"""
