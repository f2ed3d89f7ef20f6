// Tokens of people, for admins (proto/paceline/v1/service.proto).
#ifndef PACELINE_COORDINATOR_SERVICE_TOKEN_SERVICE_H_
#define PACELINE_COORDINATOR_SERVICE_TOKEN_SERVICE_H_

#include "common/rpc/rpc_service.h"
#include "coordinator/service/authorizer.h"

namespace paceline {

// Thread-safe. `authorizer` must outlive the service.
class TokenService : public RpcService {
 public:
  // `has_secret`: whether callers without a token must prove the service's.
  // Otherwise it makes none, since they would keep nobody out.
  TokenService(Authorizer& authorizer, bool has_secret);
};

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_SERVICE_TOKEN_SERVICE_H_
