"""Campaigns: tests that try random cases for as long as they are given.

How long in CI says the test; the environment can give every campaign more or less, or one of them:

    REALM_CAMPAIGN_SECONDS=60                    each campaign
    REALM_CAMPAIGN_SECONDS_CONTAINERS=3600       the campaign "containers"
    REALM_TEST_SEED=7                            where the seeds begin

A busy machine does less in the same time, so each campaign also has a number of cases that it does
in any case: none passes with nothing tested. The campaigns in Swift work alike
(Tests/TestSupport/Campaign.swift).
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator


# What has been done: the lines that conftest.py shows at the end of the run.
done: list[str] = []


class Campaign:
    """Seeds to try, one after another: `for seed in Campaign("containers", seconds=4, at_least=9)`.

    `seed` is for campaigns that begin with the same case each time; without it, the clock says where.
    """

    def __init__(self, name: str, *, seconds: float, at_least: int, seed: int | None = None) -> None:
        own = "REALM_CAMPAIGN_SECONDS_" + re.sub(r"\W", "_", name.upper())
        given = os.environ.get(own) or os.environ.get("REALM_CAMPAIGN_SECONDS")
        self.name, self.at_least = name, max(at_least, 1)
        self.seconds = float(given) if given else seconds
        first = seed if seed is not None else time.time_ns() // 1000 % 2**32
        self.seed = int(os.environ.get("REALM_TEST_SEED", first))

    def __iter__(self) -> Iterator[int]:
        start, cases = time.monotonic(), 0
        while cases < self.at_least or time.monotonic() - start < self.seconds:
            print(f"{self.name}: REALM_TEST_SEED={self.seed + cases}")  # seen where the test fails
            yield self.seed + cases
            cases += 1
        self.end(cases)

    def end(self, cases: int) -> None:
        """Notes how much was done; fails where that is too little."""
        done.append(f"campaign {self.name}: {cases} cases (at least {self.at_least}; "
                    f"{self.seconds:g} s), REALM_TEST_SEED={self.seed}")
        assert cases >= self.at_least, done[-1]
