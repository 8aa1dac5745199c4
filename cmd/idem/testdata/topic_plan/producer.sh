kafka-topics --bootstrap-server "$KAFKA_BROKERS" --create --if-not-exists --topic paid --partitions 12 --config cleanup.policy=delete --config retention.ms=604800000
kafka-acls --bootstrap-server "$KAFKA_BROKERS" --add --allow-principal User:orders --operation Write --topic paid
