#pragma once
// What nearly every test includes, parsed once (see cmake/Targets.cmake).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/virtual_loop.h"
#include "kube/object_headers.h"
