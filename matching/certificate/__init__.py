"""The answer and its proof: `Assignment`, complementary slackness, `verify`, Hall's condition, and the last digits."""
