#include "coordinator/service/token_service.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "common/limits.h"
#include "paceline/v1/service.grpc.pb.h"

namespace paceline {

TokenService::TokenService(Authorizer& authorizer, bool has_secret)
    : RpcService(v1::TokenService::service_full_name()) {
  AddMessages<v1::CreateTokenRequest, v1::CreateTokenResponse>(
      "CreateToken", limits::kMaxControlBytes,
      [&authorizer, has_secret](const auto& request, auto& response,
                                const Done& done) {
        if (!has_secret) {
          return done(absl::FailedPreconditionError(
              "the service has no secret, so that whoever reaches it may do "
              "everything without a token; expected `coordinator serve "
              "--secret-file`"));
        }
        absl::StatusOr<v1::CreateTokenResponse> created =
            authorizer.Create(request, absl::Now());
        if (created.ok()) response = *std::move(created);
        done(created.status());
      },
      Access::kPeople);
  AddMessages<v1::ListTokensRequest, v1::ListTokensResponse>(
      "ListTokens", limits::kMaxControlBytes,
      [&authorizer](const auto& /*request*/, auto& response, const Done& done) {
        response = authorizer.List();
        done(absl::OkStatus());
      },
      Access::kPeople);
  AddMessages<v1::RevokeTokenRequest, v1::RevokeTokenResponse>(
      "RevokeToken", limits::kMaxControlBytes,
      [&authorizer](const auto& request, auto& /*response*/, const Done& done) {
        done(authorizer.Revoke(request.id()));
      },
      Access::kPeople);
}

}  // namespace paceline
