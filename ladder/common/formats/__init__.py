"""How numbers are written, for Django: in every language with a decimal point.

Numbers of templates go into pictures and styles, too, and there a comma is no decimal
point. Tables that mix both signs would be worse to read than one sign.
"""
