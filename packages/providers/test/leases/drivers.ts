/** The locations of the drivers, for programs of a test outside of this workspace. */
export const driverUrls = {
  postgres: import.meta.resolve('pg'),
  mysql: import.meta.resolve('mysql2/promise'),
} as const
