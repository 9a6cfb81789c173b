#!/usr/bin/env python3
"""The airports of the world in a realm file, from Python.

usage: airports.py import FILE     fill FILE from the package airportsdata
       airports.py explore FILE    look up, search, sort, count
       airports.py change FILE     a transaction, a rollback, and what another instance sees of them
       airports.py summary FILE    one line that is the same for every program that reads the same data
"""
import pathlib
import sys

import realm
from text import progress, table


class Country(realm.Object):
    code: str = realm.PrimaryKey()
    name: str = realm.Indexed()


class Airport(realm.Object):
    icao: str = realm.PrimaryKey()
    iata: str | None = realm.Indexed()
    name: str
    city: str = realm.Indexed()
    subdivision: str
    elevation: float  # feet above the sea
    latitude: float
    longitude: float
    timezone: str
    country: Country | None


def open_world(path):
    return realm.open(path, [Airport, Country], schema_version=1)


# ---------------------------------------------------------------- import


def import_airports(path):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
    import export

    countries = {}
    with open_world(path) as world:
        with world.write():
            for fields in progress("importing", list(export.airports())):
                icao, iata, name, city, subdivision, code, country_name, elevation, latitude, longitude, timezone = fields
                country = countries.get(code)
                if country is None:
                    country = countries[code] = world.create(Country, code=code, name=country_name)
                world.create(
                    Airport,
                    icao=icao,
                    iata=iata or None,
                    name=name,
                    city=city,
                    subdivision=subdivision,
                    elevation=elevation,
                    latitude=latitude,
                    longitude=longitude,
                    timezone=timezone,
                    country=country,
                )
        print(f"{len(world.objects(Airport)):,} airports in {len(countries)} countries, committed to {path}")


# ---------------------------------------------------------------- explore


def airport_table(airports):
    table(
        ["ICAO", "IATA", "name", "city", "country", ">feet"],
        [
            (a.icao, a.iata or "–", a.name, a.city, a.country.name if a.country else "–", f"{a.elevation:,.0f}")
            for a in airports
        ],
    )


def airports_of(world, code):
    return world.backlinks(world.find(Country, code), Airport, "country")


def sorted_table(airports, *order, limit=8):
    airport_table(airports.sorted(*order).limit(limit))
    if len(airports) > limit:
        print(f"  and {len(airports) - limit} more")


def explore(path):
    with open_world(path) as world:
        airports = world.objects(Airport)
        print(f"\nrealm {realm.__version__}, opened {path}\n\nBy key")
        airport_table(world.find(Airport, icao) for icao in ("SPJC", "LFPG", "KJFK", "RJTT", "BIKF"))

        print("\nThe highest airports of Peru")
        peru = airports_of(world, "PE")
        sorted_table(peru, "-elevation", "icao")
        print(f"  on average they lie at {peru.average('elevation'):,.0f} feet")

        print("\nThe airports of Iceland by name")
        sorted_table(airports_of(world, "IS"), "name")

        print("\nCountries by number of airports")
        tallies = []
        for country in world.objects(Country):
            there = world.backlinks(country, Airport, "country")
            tallies.append((len(there), country.name, there.average("elevation"), there.max("elevation")))
        tallies.sort(key=lambda tally: -tally[0])
        table(
            ["country", ">airports", ">average feet", ">highest"],
            [(name, f"{count:,}", f"{mean:,.0f}", f"{top:,.0f}") for count, name, mean, top in tallies[:8]],
        )

        print("\nHow many airports ...")
        conditions = [
            "elevation > 10000",
            "elevation < 0",
            "name CONTAINS[c] 'international'",
            "timezone BEGINSWITH 'Europe/'",
            "latitude > 66.5622",
            "iata != nil",
            "city == 'London' AND iata != nil",
            "NOT (latitude BETWEEN {-60, 60})",
        ]
        counts = [(text, f"{len(airports.filter(text)):,}") for text in conditions]
        table(["condition", ">airports"], [*counts, ("all", f"{len(airports):,}")])


# ---------------------------------------------------------------- change


def change(path):
    with open_world(path) as first, open_world(path) as second:

        def show(who, world):
            lima = world.find(Airport, "SPJC")
            print(f"  {who:16} {lima.icao}: {lima.name}, {lima.elevation:,.0f} feet")

        print(f"\nTwo instances of {path}")
        show("first", first)
        show("second", second)

        print("The first one commits a new name and elevation")
        with first.write():
            lima = first.find(Airport, "SPJC")
            lima.name = "Jorge Chávez International Airport"
            lima.elevation = 112.0
        show("first", first)
        show("second, before", second)
        second.refresh()
        show("second, after", second)

        print("The first one deletes the airports of Iceland, and rolls that back")
        iceland = airports_of(first, "IS")
        try:
            with first.write():
                first.delete(iceland)
                print(f"  in the transaction: {len(iceland)} airports")
                raise InterruptedError("changed our mind")
        except InterruptedError as reason:
            print(f"  after the rollback ({reason}): {len(airports_of(first, 'IS'))} airports")


# ---------------------------------------------------------------- summary and main


def summary(path):
    with open_world(path) as world:
        airports = world.objects(Airport)
        print(
            f"{len(airports)} airports, {len(world.objects(Country))} countries, "
            f"{len(airports_of(world, 'PE'))} in Peru, elevations {airports.sum('elevation'):.1f}, "
            f"northernmost {airports.max('latitude'):.4f}, SPJC {world.find(Airport, 'SPJC').name}"
        )


COMMANDS = {"import": import_airports, "explore": explore, "change": change, "summary": summary}

if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    try:
        COMMANDS[sys.argv[1]](sys.argv[2])
    except realm.Error as error:
        sys.exit(f"airports.py: {error}")
