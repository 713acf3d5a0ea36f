#pragma once
#include "engine.h"
#include "files.h"
#include "memory.h"
#include "processes.h"
#include "timers.h"
