import { useQuery } from '@tanstack/react-query'
import { membersQuery } from '../secrets/use-name-of.ts'

/** Returns a function that gives the name or the address of a member, as the list of members shows them. */
export function useMemberNames(orgId: string, isNeeded: boolean): (userId: string | undefined) => string | undefined {
  const members = useQuery({ ...membersQuery(orgId), enabled: isNeeded }).data?.members
  return (userId) => {
    const member = members?.find((one) => one.userId === userId)
    return member?.name ?? member?.email ?? undefined
  }
}
