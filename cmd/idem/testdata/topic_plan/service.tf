resource "kafka_topic" "orders" {
  name               = "orders"
  partitions         = 12
  replication_factor = 3

  config = {
    "cleanup.policy"      = "delete"
    "min.insync.replicas" = "2"
    "retention.ms"        = "604800000"
  }
}

resource "kafka_topic" "orders_retry_billing" {
  name               = "orders.retry.billing"
  partitions         = 12
  replication_factor = 3

  config = {
    "cleanup.policy"      = "delete"
    "max.message.bytes"   = "1064972"
    "min.insync.replicas" = "2"
    "retention.ms"        = "604800000"
  }
}

resource "kafka_topic" "paid" {
  name               = "paid"
  partitions         = 12
  replication_factor = 3

  config = {
    "cleanup.policy"      = "delete"
    "min.insync.replicas" = "2"
    "retention.ms"        = "604800000"
  }
}

resource "kafka_acl" "user_cn_payments_o___shop__read_topic_orders" {
  resource_name                = "orders"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:CN=payments,O=$${shop}"
  acl_host                     = "*"
  acl_operation                = "Read"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "user_cn_payments_o___shop__read_topic_orders_retry_billing" {
  resource_name                = "orders.retry.billing"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:CN=payments,O=$${shop}"
  acl_host                     = "*"
  acl_operation                = "Read"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "user_cn_payments_o___shop__write_topic_orders_retry_billing" {
  resource_name                = "orders.retry.billing"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:CN=payments,O=$${shop}"
  acl_host                     = "*"
  acl_operation                = "Write"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "user_cn_payments_o___shop__write_topic_paid" {
  resource_name                = "paid"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:CN=payments,O=$${shop}"
  acl_host                     = "*"
  acl_operation                = "Write"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "user_cn_payments_o___shop__read_group_payments" {
  resource_name                = "payments"
  resource_type                = "Group"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:CN=payments,O=$${shop}"
  acl_host                     = "*"
  acl_operation                = "Read"
  acl_permission_type          = "Allow"
}
