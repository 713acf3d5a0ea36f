#pragma once
#include "engine.h"
#include "files.h"
#include "processes.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
