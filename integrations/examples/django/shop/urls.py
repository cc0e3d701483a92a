from django.conf import settings
from django.http import JsonResponse
from django.urls import path


def index(request):
    return JsonResponse({"database": settings.DATABASE.hostname})


urlpatterns = [path("", index)]
