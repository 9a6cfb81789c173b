/* Nothing: the module is linked for what RuntimeParts.c puts in the place of others' symbols. */
