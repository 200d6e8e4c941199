"""The vocabulary of the invented shop. Every brand is made up."""

from __future__ import annotations

from collections.abc import Mapping

BRANDS = (
    "Alderbrook", "Bexley Lane", "Corvana", "Duskfield", "Elmhaven", "Ferrowick", "Glimra", "Hartnook",
    "Ivoryl", "Juniperon", "Kestrand", "Lumavale", "Mirrowby", "Northquill", "Ostrelle", "Pinnaro",
)  # fmt: skip
ADJECTIVES = (
    "Compact", "Classic", "Foldable", "Quiet", "Heavy Duty", "Slim", "Insulated", "Soft", "Premium", "Everyday",
    "Portable", "Double Wall",
)  # fmt: skip
MATERIALS = ("Steel", "Bamboo", "Cotton", "Glass", "Aluminium", "Oak", "Silicone", "Ceramic", "Leather", "Canvas")
COLORS = ("Black", "White", "Graphite", "Forest Green", "Navy", "Sand", "Red", "Silver")
FEATURES = (
    "Easy to clean", "Made for daily use", "Fits standard sizes", "With storage bag", "Two year warranty",
    "Quick to set up", "Safe for children", "Saves space",
)  # fmt: skip
TREE: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "Home & Kitchen": {
        "Kitchen & Dining": ("Kettles", "Frying Pans", "Knife Sets", "Storage Jars"),
        "Bedding": ("Pillows", "Duvets", "Blankets"),
        "Lighting": ("Desk Lamps", "Night Lights"),
    },
    "Electronics": {
        "Audio": ("Headphones", "Speakers", "Turntables"),
        "Accessories": ("Chargers", "Cables", "Cases"),
        "Cameras": ("Tripods", "Memory Cards"),
    },
    "Sports & Outdoors": {
        "Camping": ("Tents", "Sleeping Bags", "Lanterns"),
        "Fitness": ("Yoga Mats", "Dumbbells", "Skipping Ropes"),
        "Cycling": ("Helmets", "Bike Lights"),
    },
    "Beauty & Personal Care": {
        "Skin Care": ("Face Serums", "Hand Creams", "Sun Creams"),
        "Hair Care": ("Shampoos", "Hair Brushes"),
    },
    "Toys & Games": {
        "Puzzles": ("Jigsaw Puzzles", "Brain Teasers"),
        "Board Games": ("Family Games", "Card Games"),
        "Building Toys": ("Wooden Blocks", "Marble Runs"),
    },
    "Office Products": {
        "Writing": ("Fountain Pens", "Markers", "Notebooks"),
        "Desk Supplies": ("Desk Organizers", "Staplers"),
    },
    "Pet Supplies": {
        "Dogs": ("Dog Beds", "Leads", "Dog Bowls"),
        "Cats": ("Scratching Posts", "Cat Toys"),
    },
    "Garden & Outdoor": {
        "Tools": ("Pruning Shears", "Watering Cans", "Spades"),
        "Furniture": ("Garden Chairs", "Parasols"),
    },
}


def singular(leaf: str) -> str:
    """`Frying Pans` -> `Frying Pan`."""
    if leaf.endswith("Boxes"):
        return leaf[:-2]
    return leaf[:-1] if leaf.endswith("s") and not leaf.endswith("ss") else leaf
