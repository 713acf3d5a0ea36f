#pragma once
#include "engine.h"
#include "files.h"
#include "processes.h"
