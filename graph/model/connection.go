package model

// Connection is a page of a list, by Relay's cursor connections specification. The schema's
// connection types are instances of it, but for those whose edges have fields of their own.
type Connection[N any] struct {
	Edges    []*Edge[N]
	Nodes    []N // those of the edges
	PageInfo *PageInfo
}

// Edge is an entry of a list.
type Edge[N any] struct {
	Cursor string
	Node   N
}

// The connections of the schema, and their edges.
type (
	AdCampaignConnection         = Connection[*AdCampaign]
	AdCampaignEdge               = Edge[*AdCampaign]
	AdRefundConnection           = Connection[*AdRefund]
	AdRefundEdge                 = Edge[*AdRefund]
	AdUnitConnection             = Connection[*AdUnit]
	AdUnitEdge                   = Edge[*AdUnit]
	AdZoneConnection             = Connection[*AdZone]
	AdZoneEdge                   = Edge[*AdZone]
	AdvertiserConnection         = Connection[*Advertiser]
	AdvertiserEdge               = Edge[*Advertiser]
	CircleConnection             = Connection[*Circle]
	CircleEdge                   = Edge[*Circle]
	CommentConnection            = Connection[*Comment]
	CommentEdge                  = Edge[*Comment]
	ModerationCaseConnection     = Connection[*ModerationCase]
	ModerationCaseEdge           = Edge[*ModerationCase]
	ModerationDecisionConnection = Connection[*ModerationDecision]
	ModerationDecisionEdge       = Edge[*ModerationDecision]
	AuditEntryConnection         = Connection[*AuditEntry]
	AuditEntryEdge               = Edge[*AuditEntry]
	NotificationConnection       = Connection[*Notification]
	NotificationEdge             = Edge[*Notification]
	UserConnection               = Connection[*User]
	UserEdge                     = Edge[*User]
)
