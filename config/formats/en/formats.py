"""One form of dates on every page of the admin, in place of Django's "Nov. 30, 2026, 1:47 a.m."."""

DATE_FORMAT = "Y-m-d"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = "Y-m-d H:i"
