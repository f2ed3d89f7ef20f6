#include "common/rpc/grpc_channel.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include "absl/time/time.h"
#include "common/limits.h"

namespace paceline {

std::shared_ptr<grpc::Channel> CreateChannel(const std::string& address,
                                             const Tls* tls,
                                             const Keepalive& keepalive) {
  const int backoff_ms =
      static_cast<int>(absl::ToInt64Milliseconds(limits::kReconnectBackoff));
  const int resolve_ms =
      static_cast<int>(absl::ToInt64Milliseconds(limits::kResolveTimeout));
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, backoff_ms);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, backoff_ms);
  arguments.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, backoff_ms);
  arguments.SetInt(GRPC_ARG_DNS_ARES_QUERY_TIMEOUT_MS, resolve_ms);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, keepalive.time_ms);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, keepalive.timeout_ms);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetMaxReceiveMessageSize(limits::kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(limits::kMaxMessageBytes);
  return grpc::CreateCustomChannel(address,
                                   tls == nullptr
                                       ? grpc::InsecureChannelCredentials()
                                       : tls->ChannelCredentials(address),
                                   arguments);
}

}  // namespace paceline
