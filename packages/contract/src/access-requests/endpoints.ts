import { Type } from 'typebox'
import { get, post } from '../endpoint.ts'
import { GrantSeconds } from '../grants/schemas.ts'
import { limits } from '../limits.ts'
import { FreeText, Id, NextCursor, Page, Strict } from '../schema.ts'
import { AccessRequest } from './schemas.ts'

const One = Strict({ request: AccessRequest })
const reasonOf = (description: string) => ({ reason: Type.Optional({ ...FreeText, description }) })

/**
 * A member asks for environments. An admin who holds their keys answers with ordinary key grants, and the last one closes
 * the request. The server gives nobody a key.
 */
export const accessRequests = {
  list: get('/v1/orgs/:orgId/access-requests', {
    summary:
      'List requests for access, oldest first. In a request, a member asks for the keys of environments. Admins see the requests of all people. Other callers see only their own requests',
    query: Strict({
      ...Page.properties,
      status: Type.Optional(
        Type.Union([Type.Literal('open'), Type.Literal('closed')], {
          description:
            'Only requests with this status. A closed request was granted, declined or withdrawn, or has expired. Default: open and closed requests',
        }),
      ),
    }),
    responses: {
      200: Strict({
        requests: Type.Array(AccessRequest),
        open: Type.Integer({ description: 'Number of open requests that the caller may see' }),
        nextCursor: NextCursor,
      }),
    },
  }),
  create: post('/v1/orgs/:orgId/access-requests', {
    summary:
      'Ask for access to environments, that is, for their keys. With `forSeconds`, you ask for temporary access. The server notifies the admins',
    body: Strict({
      environmentIds: Type.Array(Id('environment'), {
        minItems: 1,
        maxItems: limits.accessRequestEnvironmentsMax,
        uniqueItems: true,
      }),
      ...reasonOf('Why you need the access. The admins see this text'),
      forSeconds: Type.Optional({
        ...GrantSeconds,
        description: 'For how many seconds you need the access. Default: you need the access permanently',
      }),
    }),
    responses: { 201: One },
    refuses: ['conflict'],
    audits: ['access_request.opened'],
  }),
  get: get('/v1/orgs/:orgId/access-requests/:accessRequestId', {
    summary: 'Get a request for access. Only admins and the person who asked can see it',
    responses: { 200: One },
  }),
  decline: post('/v1/orgs/:orgId/access-requests/:accessRequestId/decline', {
    summary:
      'Decline a request for access. The person who asked sees the reason. If an admin has already granted some of the keys, the person keeps these keys',
    body: Strict(reasonOf('Why you decline the request. The person who asked sees this text')),
    responses: { 200: One },
    refuses: ['conflict'],
    audits: ['access_request.declined'],
  }),
  withdraw: post('/v1/orgs/:orgId/access-requests/:accessRequestId/withdraw', {
    summary: 'Withdraw your own request for access',
    responses: { 200: One },
    refuses: ['conflict'],
    audits: ['access_request.withdrawn'],
  }),
}
