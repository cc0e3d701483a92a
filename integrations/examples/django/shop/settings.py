import os
from urllib.parse import urlsplit

# A missing secret ends the start with its name: KeyError: 'SECRET_KEY'.
SECRET_KEY = os.environ["SECRET_KEY"]
DATABASE = urlsplit(os.environ["DATABASE_URL"])

DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1", "localhost"]
ROOT_URLCONF = "shop.urls"
MIDDLEWARE = ["django.middleware.security.SecurityMiddleware", "django.middleware.common.CommonMiddleware"]
# With a driver: {"default": {"ENGINE": "django.db.backends.postgresql", "HOST": DATABASE.hostname, ...}}
DATABASES = {}
