import { useRouter } from '@tanstack/react-router'
import { useCallback } from 'react'
import { meQuery, queryClient } from './queries.ts'

/** Reloads the person and their organizations; `me` and `org` of every page are updated. */
export function useReloadMe(): () => Promise<void> {
  const router = useRouter()
  return useCallback(async () => {
    await queryClient.fetchQuery({ ...meQuery, staleTime: 0 })
    await router.invalidate()
  }, [router])
}
