kafka-topics --bootstrap-server "$KAFKA_BROKERS" --create --if-not-exists --topic orders --partitions 12 --config cleanup.policy=delete --config retention.ms=1728020000
kafka-topics --bootstrap-server "$KAFKA_BROKERS" --create --if-not-exists --topic orders.retry.payments --partitions 12 --config cleanup.policy=delete --config max.message.bytes=1064972 --config retention.ms=1728020000
