package kafka

import (
	"context"
	"fmt"

	"github.com/segmentio/kafka-go"
)

// ACL is a right that a cluster gives or denies.
type ACL struct {
	Principal string
	Host      string // "*" for any
	Resource  string // Topic, Group, Cluster, Transactionalid
	Name      string
	// Prefixed says that Name is how the names of the resources begin.
	Prefixed  bool
	Operation string // Read, Write, Describe, All and so on
	Deny      bool
}

// ACLs are all that the cluster has, which takes DESCRIBE on the cluster. A cluster without an authorizer has none, and
// says so by an error.
func (b *Broker) ACLs(ctx context.Context) ([]ACL, error) {
	answer, err := patiently(ctx, b, func(ctx context.Context) (*kafka.DescribeACLsResponse, error) {
		answer, err := b.client.DescribeACLs(ctx, &kafka.DescribeACLsRequest{Filter: kafka.ACLFilter{
			ResourceTypeFilter: kafka.ResourceTypeAny, ResourcePatternTypeFilter: kafka.PatternTypeAny,
			Operation: kafka.ACLOperationTypeAny, PermissionType: kafka.ACLPermissionTypeAny}})
		if err == nil {
			err = answer.Error
		}
		return answer, err
	})
	if err != nil {
		return nil, fmt.Errorf("list ACLs: %w", b.explain(err))
	}
	var acls []ACL
	for _, r := range answer.Resources {
		for _, a := range r.ACLs {
			acls = append(acls, ACL{Principal: a.Principal, Host: a.Host, Resource: r.ResourceType.String(), Name: r.ResourceName,
				Prefixed: r.PatternType == kafka.PatternTypePrefixed, Operation: a.Operation.String(), Deny: a.PermissionType == kafka.ACLPermissionTypeDeny})
		}
	}
	return acls, nil
}
