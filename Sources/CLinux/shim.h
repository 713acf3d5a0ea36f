#pragma once
#include "engine.h"
#include "files.h"
#include "memory.h"
#include "network.h"
#include "processes.h"
#include "rights.h"
#include "timers.h"
