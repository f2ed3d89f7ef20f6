// A transport that forwards to another one; tests override parts of it.
#ifndef PACELINE_TESTS_CONFORMANCE_FORWARDING_TRANSPORT_H_
#define PACELINE_TESTS_CONFORMANCE_FORWARDING_TRANSPORT_H_

#include <memory>
#include <string>
#include <utility>

#include "worker/collective/transport.h"

namespace paceline {

// ExchangeInto calls Exchange, so that one override sees all messages.
class ForwardingTransport : public Transport {
 public:
  explicit ForwardingTransport(std::unique_ptr<Transport> transport)
      : transport_(std::move(transport)) {}

  int rank() const override { return transport_->rank(); }
  int world_size() const override { return transport_->world_size(); }
  std::string NameOf(int rank) const override {
    return transport_->NameOf(rank);
  }
  absl::Status Exchange(int to, absl::Span<const std::byte> out, int from,
                        size_t in_size, Sink sink) override {
    return transport_->Exchange(to, out, from, in_size, sink);
  }
  void Abort(const absl::Status& reason) override { transport_->Abort(reason); }

 private:
  const std::unique_ptr<Transport> transport_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_CONFORMANCE_FORWARDING_TRANSPORT_H_
