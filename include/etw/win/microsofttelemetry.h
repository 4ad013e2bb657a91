/* SPDX-License-Identifier: MIT */
#include "MicrosoftTelemetry.h"
