#pragma once
#include "files.h"
#include "processes.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
