"""What the prompts are made from: openings with a place for a subject, per kind of traffic."""

TOPICS = (
    "a bicycle that squeaks", "a neighbour's dog", "planning a garden", "learning to swim", "a lost parcel",
    "the night train", "a broken heater", "a school play", "growing tomatoes", "a job interview",
    "the office kitchen", "a birthday for twins", "an old radio", "moving to a new town", "a power cut",
    "baking bread", "a museum visit", "the last bus", "a rainy holiday", "a shy colleague", "repairing a roof",
    "a chess club", "a missed deadline", "the harbour", "a wedding speech", "saving money", "a bee hive",
    "a long flight", "a city marathon", "a noisy server room", "a new printer", "a library card",
    "the first snow", "a mountain hut", "a data outage", "a delayed delivery", "a changed timetable",
    "a software update", "a water leak", "a summer festival", "a fire drill", "a new canteen",
    "an electric car", "a violin lesson", "a flea market", "a cat on a roof", "a forgotten password",
    "a team meeting", "a river flood", "a software release", "a bakery", "a repair café", "a parking permit",
    "a bridge closed for works", "a customer complaint",
)  # fmt: skip
CHAT = (
    "Can you help me with {}?", "I have a question about {}.", "What should I know about {}?",
    "I need advice on {}.", "My friend and I argue about {}.", "How would you explain {} to a child?", "",
)  # fmt: skip
CREATIVE = (
    "Write a short poem about {}.", "Tell me a story about {}.", "Write a limerick about {}.",
    "Write the first paragraph of a novel about {}.", "Describe {} in three sentences.",
    "Write a dialogue about {}.",
)  # fmt: skip
PASSAGE = (
    "Write a short notice about {}.", "Write an email about {}.", "Write a news report about {}.",
)  # fmt: skip
QUOTE = (
    "Summarize this text in one sentence.", "Repeat the most important sentence word for word.",
    "Quote the key sentence.", "What happened? Use the exact words of the text.",
    "Copy the two sentences that matter most.",
)  # fmt: skip
CODE = (
    "def {}(", "def {}(", "class {}:\n    ", "function {}(", "async def {}(self, ", "import os\n\n\ndef {}(",
    "from dataclasses import dataclass\n\n\n@dataclass\nclass {}:\n    ", "export function {}(", "const {} = (",
    "import unittest\n\nclass Test_{}(unittest.TestCase):\n", "#!/bin/sh\n# {}\n", "-- {}\nSELECT ",
    "public class {} {{\n", "package main\n\nfunc {}(", "fn {}(", "import pandas as pd\n\n# {}\n",
    "#include <stdio.h>\n\nint {}(",
)  # fmt: skip
NAMES = (
    "merge_sorted_lists", "count_words", "parse_date", "Stack", "is_palindrome", "read_config", "Matrix",
    "binary_search", "LinkedList", "retry", "moving_average", "format_price", "group_by", "flatten", "Account",
    "find_duplicates", "json_to_csv", "Queue", "validate_email", "chunked", "Point", "Timer", "fibonacci",
    "quick_sort", "remove_outliers", "Graph", "shortest_path", "load_users", "Inventory", "hash_password",
    "rotate", "Logger", "gcd", "Shape", "count_lines", "download", "to_celsius", "Parser", "compress",
    "is_prime", "Cache", "transpose", "word_frequency", "Node", "schedule", "get_orders", "Vector",
    "reverse_words", "median", "Counter", "save_image", "tokenize", "Book", "split_bill", "next_weekday",
    "Robot", "sum_digits", "max_profit", "Player",
)  # fmt: skip
