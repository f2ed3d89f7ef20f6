// A group over gRPC, to measure what the ring would cost without its own
// connections. Each pair of ranks has a stream in each direction. Payloads are
// sent as slices of the tensor's memory, in pieces, and are reduced from the
// slices in which they arrive.
#ifndef PACELINE_TESTS_BENCHMARK_PEERS_GRPC_TRANSPORT_H_
#define PACELINE_TESTS_BENCHMARK_PEERS_GRPC_TRANSPORT_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "worker/collective/transport.h"

namespace paceline::peers {

class GrpcTransport final : public Transport {
 public:
  // `addresses` by rank, "host:port". Blocks until all ranks are connected;
  // CHECK-fails after a minute, as all errors do.
  GrpcTransport(std::vector<std::string> addresses, int rank);
  ~GrpcTransport() override;

  int rank() const override;
  int world_size() const override;
  std::string NameOf(int rank) const override;
  absl::Status Exchange(int to, absl::Span<const std::byte> out, int from,
                        size_t in_size, Sink sink) override;
  void Abort(const absl::Status& reason) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace paceline::peers

#endif  // PACELINE_TESTS_BENCHMARK_PEERS_GRPC_TRANSPORT_H_
