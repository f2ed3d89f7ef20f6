// Checks the request that initialises a parameter server.
#ifndef PACELINE_PS_SERVER_CHECK_INITIALIZE_H_
#define PACELINE_PS_SERVER_CHECK_INITIALIZE_H_

#include "absl/status/status.h"
#include "paceline/v1/ps.pb.h"

namespace paceline {

// InvalidArgument, with the field, its value and what is expected, unless the
// numbers are possible for a job and the path is valid. Allocates no memory in
// proportion to numbers in the request.
absl::Status CheckInitialize(const v1::InitializeRequest& request);

}  // namespace paceline

#endif  // PACELINE_PS_SERVER_CHECK_INITIALIZE_H_
