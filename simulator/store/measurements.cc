#include "simulator/store/measurements.h"

#include <map>

namespace boba::sim::store {
namespace {

Result<void> insert_points(Database& database, std::int64_t id,
                           const std::vector<MeasuredPoint>& points) {
  Result<Statement> insert = database.prepare("INSERT INTO points VALUES (?, ?, ?, ?, ?)");
  if (!insert) return insert.error();
  std::map<std::string, std::int64_t> numbers;
  for (const MeasuredPoint& point : points) {
    const std::int64_t number = numbers[point.series]++;
    if (Result<void> done = insert->run({id, point.series, number, point.x, point.y}); !done) {
      return done;
    }
  }
  return {};
}

}  // namespace

Result<void> write_measurement(Database& database, const MeasurementRecord& measurement) {
  Result<Transaction> transaction = Transaction::begin(database);
  if (!transaction) return transaction.error();
  const auto seed = static_cast<std::int64_t>(measurement.seed);
  Result<void> done = database.run(
      "DELETE FROM measurements WHERE experiment = ? AND config = ? AND data = ? AND seed = ?",
      {measurement.experiment, measurement.config, measurement.data, seed});
  if (done) {
    done = database.run(
        "INSERT INTO measurements (experiment, config, data, seed, version, machine, seconds,"
        " created) VALUES (?, ?, ?, ?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))",
        {measurement.experiment, measurement.config, measurement.data, seed, measurement.version,
         measurement.machine, measurement.seconds});
  }
  if (!done) return done;
  Result<std::int64_t> id = database.integer("SELECT last_insert_rowid()");
  if (!id) return id.error();
  done = insert_points(database, *id, measurement.points);
  return done ? transaction->commit() : done;
}

Result<std::vector<MeasurementRecord>> read_measurements(Database& database,
                                                         std::string_view experiment) {
  std::vector<MeasurementRecord> records;
  Result<void> done = database.each(
      "SELECT m.measurement, m.experiment, m.config, m.data, m.seed, m.version, m.machine,"
      " m.seconds, m.created, p.series, p.x, p.y FROM measurements AS m"
      " LEFT JOIN points AS p ON p.measurement = m.measurement"
      " WHERE ?1 = '' OR m.experiment = ?1 ORDER BY m.measurement, p.series, p.number",
      {experiment}, [&](Row& row) {
        const std::int64_t id = row.integer();
        if (records.empty() || records.back().id != id) {
          MeasurementRecord& record = records.emplace_back();
          record.id = id;
          record.experiment = row.text();
          record.config = row.text();
          record.data = row.text();
          record.seed = static_cast<std::uint64_t>(row.integer());
          record.version = row.text();
          record.machine = row.text();
          record.seconds = row.number();
          record.created = row.text();
        } else {
          row.skip(8);
        }
        if (row.is_null()) return Result<void>();
        MeasuredPoint& point = records.back().points.emplace_back();
        point.series = row.text();
        point.x = row.number();
        point.y = row.number();
        return Result<void>();
      });
  if (!done) return done.error();
  return records;
}

}  // namespace boba::sim::store
