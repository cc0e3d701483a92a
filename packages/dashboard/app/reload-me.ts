import { useRouter } from '@tanstack/react-router'
import { useCallback } from 'react'
import { fetchCached, meQuery } from './queries.ts'

/** Returns a function that reloads the person and their organizations, and updates `me` and `org` on every page. */
export function useReloadMe(): () => Promise<void> {
  const router = useRouter()
  return useCallback(async () => {
    await fetchCached({ ...meQuery, staleTime: 0 })
    await router.invalidate()
  }, [router])
}
