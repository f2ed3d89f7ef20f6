// The job of a task, and the generation of its membership.
#ifndef PACELINE_COMMON_IDENTITY_JOB_IDENTITY_H_
#define PACELINE_COMMON_IDENTITY_JOB_IDENTITY_H_

#include <cstdint>
#include <string>

namespace paceline {

struct JobIdentity {
  // A random id that the leader draws; "" before a task has registered.
  std::string id;
  // From 1. Another generation may have other members, ranks and another world
  // size.
  uint32_t generation = 0;

  bool operator==(const JobIdentity&) const = default;
  // "job 3f2a… generation 1", for errors and logs.
  std::string ToString() const;
};

// The identity of a new job, in its first generation.
JobIdentity DrawJobIdentity();

// Whether `id` has the form of ids from DrawJobIdentity.
bool IsJobId(const std::string& id);

}  // namespace paceline

#endif  // PACELINE_COMMON_IDENTITY_JOB_IDENTITY_H_
