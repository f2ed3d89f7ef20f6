// What a parameter server asks of the request that makes it a shard.
#ifndef PACELINE_PS_SERVER_CHECK_INITIALIZE_H_
#define PACELINE_PS_SERVER_CHECK_INITIALIZE_H_

#include "absl/status/status.h"
#include "paceline/v1/ps.pb.h"

namespace paceline {

// InvalidArgument, naming the field, its value and what is expected, unless the
// numbers are those of a job that can be, and the path can be one. Allocates
// nothing by what the request claims.
absl::Status CheckInitialize(const v1::InitializeRequest& request);

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_CHECK_INITIALIZE_H_
