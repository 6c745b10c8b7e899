"""What an agent reads: the text of a step, the briefing and the recap of a session.

Every function here is pure and total: it takes recorded facts and returns text. Nothing is
summarised or invented, and no rendering fails because of what an author or an agent wrote.
"""
