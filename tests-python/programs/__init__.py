"""Random C programs over the whole interface, judged by a model of the interface (docs/C_RULES and the header; below: the rules).

A program is a list of calls (`calls.py`), written by `generator.py`, which asks the model what
exists. `engine.py` makes each call of librealm.so by the prototypes of include/realm-abi.tsv
(`abi.py`), the model (`model.py` and what it gathers) predicts its answer from the rules alone,
in plain Python data, and `judge.py` compares the two. `campaign.py` runs programs in a process of
their own, makes those that differ smaller and prints them, as text and as C (`cwriter.py`).
"""
