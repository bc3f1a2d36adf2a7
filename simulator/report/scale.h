// Scales: numbers to places on a plot, and where its ticks go.
#pragma once

#include <string>
#include <vector>

namespace boba::sim::report {

// Maps [from, to] linearly to [low, high]; low may be the larger one, as for a vertical axis. An
// empty domain maps everything to the middle.
class LinearScale {
 public:
  LinearScale(double from, double to, double low, double high)
      : from_(from), to_(to), low_(low), high_(high) {}

  double operator()(double value) const;
  double from() const { return from_; }
  double to() const { return to_; }

 private:
  double from_;
  double to_;
  double low_;
  double high_;
};

// Round numbers in [from, to], about as many as wanted: steps of 1, 2 or 5 times a power of ten.
std::vector<double> nice_ticks(double from, double to, int wanted);

// The same for counts: no step below 1.
std::vector<double> whole_ticks(double from, double to, int wanted);

// As short as the step between ticks allows: "0.25", "200", "20k".
std::string tick_label(double value, double step);

// A domain of shares that holds the values with a margin and ends at tenths: {0.6, 1}.
struct Domain {
  double from = 0;
  double to = 1;
};
Domain share_domain(const std::vector<double>& values);

// From 0, for errors that are shares but may exceed 1; ends at a round number, at most at the cap.
inline constexpr double kErrorCap = 2;
Domain error_domain(const std::vector<double>& values);

// Which of so many equal bins of the domain the value falls in; outside it, the nearest one.
int bin_of(double value, const Domain& domain, int bins);

}  // namespace boba::sim::report
