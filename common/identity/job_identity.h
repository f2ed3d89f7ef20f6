// Which job a task belongs to, and in which membership of it.
#ifndef PACELINE_COMMON_IDENTITY_JOB_IDENTITY_H_
#define PACELINE_COMMON_IDENTITY_JOB_IDENTITY_H_

#include <cstdint>
#include <string>

namespace paceline {

struct JobIdentity {
  // Drawn by the leader; "" before a task has registered.
  std::string id;
  // From 1; a later one may have other members, ranks and another world size.
  uint32_t generation = 0;

  bool operator==(const JobIdentity&) const = default;
  // "job 3f2a… generation 1", for errors and logs.
  std::string ToString() const;
};

// A new job's, in its first generation.
JobIdentity DrawJobIdentity();

// Whether `id` is of the form that DrawJobIdentity gives.
bool IsJobId(const std::string& id);

}  // namespace paceline

#endif  // PACELINE_COMMON_IDENTITY_JOB_IDENTITY_H_
