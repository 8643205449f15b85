"""From a table and a question to a chart, and to what the numbers say."""
