"""A differential fuzzer of the query language.

Written from the rules of the language (docs/QUERY_RULES; numbers such as T5 or Q12 in comments are theirs), not from
the engine: a generator of schemas, data and predicates, a naive evaluator over plain Python values,
and a comparison of both with each other and, where SQL can say it, with SQLite. The campaign is
started by test_query_fuzz.py.
"""
