import { Type } from 'typebox'
import { get, put } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { NextCursor, Nullable, PageOf, Strict, Version } from '../schema.ts'
import { Claim, Directory, DirectoryHash, EntryKey, EntryText, Signed, trustQuery } from './schemas.ts'

const EntryKeys = Type.Array(EntryKey, {
  maxItems: limits.directoryProofsMax,
  description: 'The key of an entry that the answer should prove. You can repeat the parameter',
})

/** The signed directory of an organization: what its signers vouch for, so that a client need not believe the server. */
export const directory = {
  get: get('/v1/orgs/:orgId/directory', {
    summary:
      'Get the roots and heads of the signed directory, and proofs of the requested entries. If the organization has no signed directory, `directory` is null',
    query: Strict({ ...trustQuery, key: Type.Optional(EntryKeys) }),
    responses: {
      200: Strict({ directory: Nullable(Directory) }),
    },
  }),
  entries: get('/v1/orgs/:orgId/directory/entries', {
    summary: 'List all entries of the newest head, sorted by key. A signer computes the Merkle tree of these entries',
    query: PageOf(limits.directoryEntriesDefault, limits.directoryEntriesMax),
    responses: {
      200: Strict({ head: Nullable(Version), entries: Type.Array(EntryText), nextCursor: NextCursor }),
    },
  }),
  claims: get('/v1/orgs/:orgId/directory/claims', {
    summary:
      'List the data of the server for each entry of the signed directory. A signer checks this data, and signs entries that match it',
    query: Strict({
      ...PageOf(limits.directoryEntriesDefault, limits.directoryEntriesMax).properties,
      key: Type.Optional({
        ...EntryKeys,
        description: 'The key of an entry. You can repeat the parameter. Default: all',
      }),
    }),
    responses: { 200: Strict({ claims: Type.Array(Claim), nextCursor: NextCursor }) },
  }),
  put: put('/v1/orgs/:orgId/directory', {
    summary:
      'Start the signed directory, change its root, or store signed entries. For entries that another operation changes, use `trust` of that operation instead',
    body: Signed,
    responses: { 200: Strict({ head: Strict({ version: Version, hash: DirectoryHash }) }) },
    refuses: ['conflict'],
    audits: ['directory.started', 'directory.root_changed', 'directory.signed'],
  }),
}
