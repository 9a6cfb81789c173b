"""GEOWITHIN (rules G), for circles and convex rings of less than a hemisphere."""

from __future__ import annotations

import math
from typing import Any, Callable

from .values import Row, Unspecified

Vector = tuple[float, float, float]
MARGIN = 1e-9


def vector(longitude: float, latitude: float) -> Vector:
    a, b = math.radians(longitude), math.radians(latitude)
    return math.cos(b) * math.cos(a), math.cos(b) * math.sin(a), math.sin(b)


def cross(a: Vector, b: Vector) -> Vector:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def angle(a: Vector, b: Vector) -> float:
    normal = cross(a, b)
    return math.atan2(math.sqrt(dot(normal, normal)), dot(a, b))


def point_of(row: Row | None) -> Vector | None:
    """G2: a point, or None where the data is none."""
    if row is None:
        return None
    type_prop, coordinates = row.cls.find("type"), row.cls.find("coordinates")
    assert type_prop and coordinates
    type, numbers = row.values["type"], row.values["coordinates"]
    if type is None or type.lower() != "point" or len(numbers) < 2:
        return None
    longitude, latitude = numbers[:2]
    if longitude is None or latitude is None:
        return None
    if not (abs(longitude) <= 180 and abs(latitude) <= 90):
        return None
    return vector(longitude, latitude)


def circle(center: list[float], radius: float) -> Callable[[Vector], bool]:
    middle = vector(*center)

    def inside(point: Vector) -> bool:
        difference = angle(middle, point) - radius
        if abs(difference) < MARGIN:
            raise Unspecified("a point on the edge of a circle")
        return difference < 0
    return inside


def ring(corners: list[list[float]]) -> Callable[[Vector], bool]:
    """A convex ring: inside is the same side of all edges, which are arcs of great circles."""
    points = [vector(*corner) for corner in corners]
    normals = [cross(a, b) for a, b in zip(points, points[1:] + points[:1])]
    middle = tuple(sum(point[axis] for point in points) for axis in range(3))
    signs = [dot(normal, middle) > 0 for normal in normals]  # type: ignore[arg-type]

    def inside(point: Vector) -> bool:
        sides = [dot(normal, point) for normal in normals]
        if any(abs(side) < MARGIN for side in sides):
            raise Unspecified("a point on the edge of a ring")
        return all((side > 0) == sign for side, sign in zip(sides, signs))
    return inside


def shape(kind: str, numbers: list[Any]) -> Callable[[Vector], bool]:
    if kind == "geoCircle":
        return circle(numbers[:2], numbers[2])
    if kind == "geoBox":
        west, south, east, north = numbers
        return ring([[west, south], [west, north], [east, north], [east, south]])
    return ring([numbers[at:at + 2] for at in range(0, len(numbers), 2)])


def shape_text(kind: str, numbers: list[Any]) -> str:
    points = [f"[{numbers[at]!r}, {numbers[at + 1]!r}]" for at in range(0, len(numbers) - 1, 2)]
    if kind == "geoCircle":
        return f"geoCircle({points[0]}, {numbers[2]!r})"
    if kind == "geoBox":
        return f"geoBox({points[0]}, {points[1]})"
    return f"geoPolygon({{{', '.join([*points, points[0]])}}})"
