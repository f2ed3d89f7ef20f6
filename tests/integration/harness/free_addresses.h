// Chooses addresses for tasks before they start.
#ifndef PACELINE_TESTS_INTEGRATION_HARNESS_FREE_ADDRESSES_H_
#define PACELINE_TESTS_INTEGRATION_HARNESS_FREE_ADDRESSES_H_

#include <string>
#include <vector>

namespace paceline {

// "127.0.0.1" with ports that are free, different, and not given to any other
// test program. Not thread-safe.
std::vector<std::string> FreeAddresses(int count);

}  // namespace paceline

#endif  // PACELINE_TESTS_INTEGRATION_HARNESS_FREE_ADDRESSES_H_
