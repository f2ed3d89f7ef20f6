// What a daemon has, or a task needs: v1::Resources to compute with, and the
// number of tasks.
#ifndef PACELINE_COORDINATOR_QUEUE_RESOURCES_H_
#define PACELINE_COORDINATOR_QUEUE_RESOURCES_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "paceline/v1/queue.pb.h"

namespace paceline {

// Tasks of all jobs that a daemon may hold at a time: bounds its messages.
inline constexpr int64_t kMaxTasksOfDaemon = 256;

struct Resources {
  int64_t millicores = 0;
  int64_t memory_bytes = 0;
  int64_t gpus = 0;
  // A task needs 1, a daemon has kMaxTasksOfDaemon.
  int64_t tasks = 0;

  bool operator==(const Resources&) const = default;
  Resources& operator+=(const Resources& other);
  Resources& operator-=(const Resources& other);
  // Whether there is at least as much of each in `other`.
  bool FitsInto(const Resources& other) const;
  // "4 cores, 8 GiB, 1 GPU"; what is 0 is left out, and tasks are; "nothing".
  std::string ToString() const;
};

Resources operator+(Resources a, const Resources& b);
Resources operator-(Resources a, const Resources& b);
Resources operator*(int64_t count, Resources each);
// Of each, the lesser of the two.
Resources Min(const Resources& a, const Resources& b);

// How many times `need` fits into `free`, at most `limit`.
int64_t CountThatFit(const Resources& need, const Resources& free,
                     int64_t limit);

// "1 daemon", "2 daemons".
std::string Counted(int64_t count, absl::string_view one);

// The message must be within the limits of queue_requests.h.
Resources ResourcesFromProto(const v1::Resources& message, int64_t tasks);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_QUEUE_RESOURCES_H_
