#include "common/base/cores.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <thread>

namespace paceline {

int UsableCores() {
  cpu_set_t affinity;
  CPU_ZERO(&affinity);
  // Fails if there are more processors than a cpu_set_t has bits.
  int cores = sched_getaffinity(0, sizeof(affinity), &affinity) == 0
                  ? CPU_COUNT(&affinity)
                  : static_cast<int>(std::thread::hardware_concurrency());
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::ostringstream cpu_max;
  cpu_max << file.rdbuf();
  if (const int quota = CoresOfQuota(cpu_max.str()); quota > 0) {
    cores = std::min(cores, quota);
  }
  return std::max(1, cores);
}

int CoresOfQuota(const std::string& cpu_max) {
  std::istringstream words(cpu_max);
  double quota = 0;
  double period = 0;
  // The file has "max 100000" if there is no limit.
  if (!(words >> quota >> period) || quota <= 0 || period <= 0) return 0;
  return static_cast<int>((quota + period - 1) / period);
}

}  // namespace paceline
