import { useRouter } from '@tanstack/react-router'
import { useCallback } from 'react'
import { meQuery, queryClient } from './queries.ts'

/** Asks again who one is and which organizations one is in; `me` and `org` of every page follow. */
export function useReloadMe(): () => Promise<void> {
  const router = useRouter()
  return useCallback(async () => {
    await queryClient.fetchQuery({ ...meQuery, staleTime: 0 })
    await router.invalidate()
  }, [router])
}
