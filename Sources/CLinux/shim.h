#pragma once
#include "files.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
