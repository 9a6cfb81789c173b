#!/usr/bin/env python3
"""Writes the airports of the package `airportsdata` as tab-separated text, for the programs in C and Swift.

usage: export.py FILE

One line an airport, sorted by code, no header; fields: icao, iata, name, city, subdivision, country code, country name,
elevation in feet, latitude, longitude, time zone. An empty iata means that the airport has none.
"""
import sys

import airportsdata
import pycountry

# Codes that are in use but not (or no longer) in ISO 3166.
OTHER_COUNTRIES = {"XK": "Kosovo"}


def country_name(code):
    country = pycountry.countries.get(alpha_2=code)
    if country is None:
        return OTHER_COUNTRIES.get(code, code)
    return getattr(country, "common_name", country.name)


def airports():
    """All airports as tuples in the order of the fields above."""
    for icao, entry in sorted(airportsdata.load("ICAO").items()):
        yield (
            icao, entry["iata"], entry["name"], entry["city"], entry["subd"], entry["country"],
            country_name(entry["country"]), entry["elevation"], entry["lat"], entry["lon"], entry["tz"],
        )


def main(path):
    count = 0
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for fields in airports():
            texts = [repr(f) if isinstance(f, float) else f for f in fields]
            if any("\t" in text or "\n" in text for text in texts):
                sys.exit(f"{fields[0]}: a field holds a tab or a line break")
            file.write("\t".join(texts) + "\n")
            count += 1
    print(f"{count:,} airports written to {path}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
