import { Type } from 'typebox'
import { get, put } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { NextCursor, Nullable, PageOf, Strict, Version } from '../schema.ts'
import { Claim, Directory, DirectoryHash, EntryKey, EntryText, Signed, trustQuery } from './schemas.ts'

const EntryKeys = Type.Array(EntryKey, {
  maxItems: limits.directoryProofsMax,
  description:
    'The key of an entry, for example `environment/shop/production`. The answer proves that the directory has this entry. You can repeat the parameter',
})

/** The signed directory of an organization: what its signers vouch for, so that a client need not believe the server. */
export const directory = {
  get: get('/v1/orgs/:orgId/directory', {
    summary:
      'Get the signed directory: a list of keys, names and readers that people of the organization (the signers) sign. The answer has its signed documents, and proofs of the requested entries. Without a signed directory, `directory` is null',
    query: Strict({ ...trustQuery, key: Type.Optional(EntryKeys) }),
    responses: {
      200: Strict({ directory: Nullable(Directory) }),
    },
  }),
  entries: get('/v1/orgs/:orgId/directory/entries', {
    summary:
      'List all current entries of the signed directory, sorted by key. From these entries, a signer’s client computes the hash that it then signs',
    query: PageOf(limits.directoryEntriesDefault, limits.directoryEntriesMax),
    responses: {
      200: Strict({ head: Nullable(Version), entries: Type.Array(EntryText), nextCursor: NextCursor }),
    },
  }),
  claims: get('/v1/orgs/:orgId/directory/claims', {
    summary:
      'List the data that the server has now for each object that can have an entry in the signed directory, for example each environment, person and token. A signer checks this data, makes entries from it, and signs them',
    query: Strict({
      ...PageOf(limits.directoryEntriesDefault, limits.directoryEntriesMax).properties,
      key: Type.Optional({
        ...EntryKeys,
        description:
          'The key of an entry, for example `environment/shop/production`. You can repeat the parameter. Default: all entries',
      }),
    }),
    responses: { 200: Strict({ claims: Type.Array(Claim), nextCursor: NextCursor }) },
  }),
  put: put('/v1/orgs/:orgId/directory', {
    summary:
      'Start the signed directory, change its signers, or store signed entries. If you change an object with another operation, and this operation has the field `trust`, send the signed entries for the change in `trust` instead',
    body: Signed,
    responses: { 200: Strict({ head: Strict({ version: Version, hash: DirectoryHash }) }) },
    refuses: ['conflict'],
    audits: ['directory.started', 'directory.root_changed', 'directory.signed'],
  }),
}
